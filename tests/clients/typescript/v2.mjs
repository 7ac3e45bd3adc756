// The second generation of the official client, which negotiates the era where it is told to.
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { run } from './story.mjs';

const finish = (transport, query) => transport.finishAuth(query);
const options = process.argv[3] === 'auto' ? { versionNegotiation: { mode: 'auto' } } : {};

await run({ Client, Transport: StreamableHTTPClientTransport, UnauthorizedError, finish, options });
