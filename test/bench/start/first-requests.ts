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
export const WARMING = 10_000;
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

/** A kind of work, and how often it is repeated for its later cost. */
interface Work {
  readonly name: string;
  readonly run: () => Promise<void>;
  readonly times: number;
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

  const { anonymous, signIn, call } = worksOf(origin);
  const begun: { readonly work: Work; readonly first: Cost }[] = [];
  for (const work of [anonymous, signIn, call])
    begun.push({ work, first: await costOf(gatehouse.pid, work.run) });
  await repeat(WARMING, CONCURRENCY, call.run);
  await repeat(SIGN_INS, 1, signIn.run);
  const results: FirstAndLater[] = [];
  for (const { work, first } of begun) {
    results.push({ work: work.name, first, later: await laterCost(gatehouse.pid, work) });
  }
  gatehouse.signal('SIGTERM');
  await gatehouse.exited();
  return results;
}

/** What is measured. The calls of a tool have the token of the latest sign-in. */
function worksOf(origin: string): Readonly<Record<'anonymous' | 'signIn' | 'call', Work>> {
  let token = '';
  const ask = async (headers: Readonly<Record<string, string>>, expected: number) => {
    const request = { method: 'POST', headers: { ...HEADERS, ...headers }, body: TOOL_CALL };
    const { status } = await send(`${origin}/`, request);
    if (status !== expected) throw new Error(`a measured request got ${String(status)}`);
  };
  return {
    anonymous: { name: 'request without a token', run: () => ask({}, 401), times: REQUESTS },
    signIn: {
      name: 'sign-in',
      run: async () => {
        token = (await signInClient(`${origin}/`)).accessToken;
      },
      times: SIGN_INS,
    },
    call: {
      name: 'tools/call',
      run: () => ask({ authorization: `Bearer ${token}` }, 200),
      times: REQUESTS,
    },
  };
}

/** Returns the mean cost of work that is repeated. */
async function laterCost(pid: number, { run, times }: Work): Promise<Cost> {
  const { cpuMs, wallMs } = await costOf(pid, () => repeat(times, 1, run));
  return { cpuMs: cpuMs / times, wallMs: wallMs / times };
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
