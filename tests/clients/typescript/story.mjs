// A client that is used a line at a time: it connects, asks its person for consent as often as it must, and calls tools.
// What happens is told in lines of JSON: {open} for the person, {connected}, and {answer} or {failed} for each call.
// A call with `forget` is made without the token that would be refreshed.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

const say = (told) => process.stdout.write(`${JSON.stringify(told)}\n`);

// What the client keeps while it runs, and the address at which the person's browser comes back.
class Memory {
  constructor(redirectUrl) {
    this.redirectUrl = redirectUrl;
  }

  get clientMetadata() {
    return {
      client_name: 'TypeScript',
      redirect_uris: [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    };
  }

  state = () => 'the state';
  clientInformation = () => this.client;
  saveClientInformation = (client) => void (this.client = client);
  tokens = () => this.kept;
  saveTokens = (tokens) => void (this.kept = tokens);
  codeVerifier = () => this.verifier;
  saveCodeVerifier = (verifier) => void (this.verifier = verifier);
  discoveryState = () => this.discovered;
  saveDiscoveryState = (discovered) => void (this.discovered = discovered);
  redirectToAuthorization = (url) => say({ open: String(url) });
}

// Where browsers come back. `next` is the query that one brings, now or before.
async function callback() {
  const arrived = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url, 'http://127.0.0.1');
    response.setHeader('content-type', 'text/html');
    response.end('<!doctype html><title>Done</title><p>Connected.');
    if (url.pathname !== '/callback') return;
    arrived.push(url.searchParams);
    server.emit('arrived');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const next = async () => {
    if (arrived.length === 0) await once(server, 'arrived');
    return arrived.shift();
  };
  return { url: `http://127.0.0.1:${server.address().port}/callback`, next, close: () => server.close() };
}

// `finish(transport, query)` gives a transport what the browser brought. `options` are the client's.
export async function run({ Client, Transport, UnauthorizedError, finish, options }) {
  const returned = await callback();
  const memory = new Memory(returned.url);

  // Run `step` on a transport; where it wants consent, run `again` once that was given.
  async function consented(transport, step, again) {
    try {
      return await step();
    } catch (error) {
      if (!(error instanceof UnauthorizedError)) throw error;
      const query = await returned.next();
      if (query.get('state') !== memory.state()) throw new Error('another state came back');
      await finish(transport, query);
      return await again();
    }
  }

  async function connect() {
    const transport = new Transport(new URL(process.argv[2]), { authProvider: memory });
    const client = new Client({ name: 'TypeScript', version: '1' }, options);
    return await consented(
      transport,
      async () => (await client.connect(transport), { client, transport }),
      connect,
    );
  }

  const { client, transport } = await connect();
  const { tools } = await client.listTools();
  say({ connected: { revision: transport.protocolVersion, tools: tools.map((tool) => tool.name), scope: memory.kept.scope } });
  for await (const line of createInterface({ input: process.stdin })) {
    const { forget, ...asked } = JSON.parse(line);
    if (forget) delete memory.kept.refresh_token;
    const call = () => client.callTool(asked);
    try {
      const answer = await consented(transport, call, call);
      say({ answer });
    } catch (error) {
      say({ failed: { kind: error.constructor.name, code: error.code, status: error.status, message: error.message } });
    }
  }
  await client.close();
  returned.close();
}
