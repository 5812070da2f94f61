import { startGatehouse } from '../../support/cli.ts';
import { freePort } from '../../support/free-port.ts';
import { send } from '../../support/http-client.ts';
import { startIdentityProvider } from '../../support/identity-provider.ts';
import { signInClient } from '../../support/signed-in-client.ts';
import { TemporaryDirectory } from '../../support/temporary-directory.ts';
import { startUpstream, type Upstream } from '../../support/upstream.ts';
import { HEADERS, TOOL_CALL, TOOL_RESULT } from '../forward/workload.ts';
import type { CompileCache } from './compile-cache.ts';
import { costOf, type Cost } from './cost.ts';

/** Requests until the code is compiled as it stays. */
const WARMING = 10_000;
/** Requests at the same time, while warming. */
const CONCURRENCY = 16;
/** Later requests, whose mean is reported. */
const REQUESTS = 200;
const SIGN_INS = 5;
const ANY_ADDRESS = ['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0'];

/** What the same work costs a process at first and later. */
export interface FirstAndLater {
  readonly work: string;
  readonly first: Cost;
  readonly later: Cost;
}

/** Starts a gateway, and measures its first work of each kind, and the same after 10,000 requests. */
export async function measureFirstRequests({
  variables,
}: CompileCache): Promise<readonly FirstAndLater[]> {
  await using upstream = await startToolServer();
  await using directory = await TemporaryDirectory.create();
  const origin = `http://localhost:${String(await freePort())}`;
  const redirectUris = [`${origin}/.gateway/callback`];
  await using provider = await startIdentityProvider({ redirectUris });
  const configuration = configurationOf(origin, upstream.origin, provider);
  const config = await directory.write('gatehouse.yaml', JSON.stringify(configuration));
  const flags = ['run', '--config', config, '--dev-allow-loopback', ...ANY_ADDRESS];
  await using gatehouse = startGatehouse(flags, variables);
  await gatehouse.listening();

  let token = '';
  const ask = async (headers: Readonly<Record<string, string>>, expected: number) => {
    const request = { method: 'POST', headers: { ...HEADERS, ...headers }, body: TOOL_CALL };
    const { status } = await send(`${origin}/`, request);
    if (status !== expected) throw new Error(`a measured request got ${String(status)}`);
  };
  const anonymous = (): Promise<void> => ask({}, 401);
  const call = (): Promise<void> => ask({ authorization: `Bearer ${token}` }, 200);
  const signIn = async (): Promise<void> => {
    token = (await signInClient(`${origin}/`)).accessToken;
  };
  const cost = (work: () => Promise<void>): Promise<Cost> => costOf(gatehouse.pid, work);
  const firsts = {
    anonymous: await cost(anonymous),
    signIn: await cost(signIn),
    call: await cost(call),
  };
  await repeat(WARMING, CONCURRENCY, call);
  await repeat(SIGN_INS, 1, signIn);
  const later = async (work: () => Promise<void>, times: number): Promise<Cost> => {
    const { cpuMs, wallMs } = await cost(() => repeat(times, 1, work));
    return { cpuMs: cpuMs / times, wallMs: wallMs / times };
  };
  const results = [
    {
      work: 'request without a token',
      first: firsts.anonymous,
      later: await later(anonymous, REQUESTS),
    },
    { work: 'sign-in', first: firsts.signIn, later: await later(signIn, SIGN_INS) },
    { work: 'tools/call', first: firsts.call, later: await later(call, REQUESTS) },
  ];
  gatehouse.signal('SIGTERM');
  await gatehouse.exited();
  return results;
}

function startToolServer(): Promise<Upstream> {
  return startUpstream((message, response) => {
    message.resume();
    response.writeHead(200, { 'content-type': 'application/json' }).end(TOOL_RESULT);
  });
}

function configurationOf(
  from: string,
  to: string,
  {
    issuer,
    clientId,
    clientSecret,
  }: Readonly<Record<'issuer' | 'clientId' | 'clientSecret', string>>,
): object {
  const policy = {
    allow: { or: [{ authenticated_user: true }] },
    deny: { and: [{ mcp_tool: { starts_with: 'delete_' } }] },
  };
  return {
    identity_providers: { bench: { issuer, client_id: clientId, client_secret: clientSecret } },
    routes: [{ from, to, mcp: { server: { path: '/mcp' } }, policy }],
  };
}

async function repeat(
  times: number,
  concurrency: number,
  work: () => Promise<void>,
): Promise<void> {
  let begun = 0;
  const workers = Array.from({ length: concurrency }, async () => {
    while (begun < times) {
      begun += 1;
      await work();
    }
  });
  await Promise.all(workers);
}
