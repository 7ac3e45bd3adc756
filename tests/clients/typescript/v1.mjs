// The first generation of the official client.
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { run } from './story.mjs';

const finish = (transport, query) => transport.finishAuth(query.get('code'));

await run({ Client, Transport: StreamableHTTPClientTransport, UnauthorizedError, finish, options: {} });
