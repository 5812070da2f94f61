import { isGatewayToken } from '../../proxy/crypto/gateway-token.ts';
import type { Arguments } from '../arguments.ts';
import { CommandFailure } from '../command-failure.ts';
import type { CommandStreams } from '../command.ts';
import { describeUser } from '../explain/describe-user.ts';
import { RequestExplainer, type AskedRequest } from '../explain/explain-request.ts';
import { readSnapshot } from '../explain/read-snapshot.ts';
import { renderReport } from '../explain/render-report.ts';
import { openRouteSource } from '../explain/route-source.ts';
import { readInput } from '../process/read-input.ts';
import {
  checkedUser,
  readExplainOptions,
  readObject,
  type CallerFlags,
} from './explain/explain-options.ts';

const EXIT_CODES = { allow: 0, deny: 3, none: 1, failure: 1 } as const;

/** Runs `gatehouse explain`. Resolves with 0 if the request is permitted, and with 3 if it is refused. */
export async function runExplain(
  flags: Arguments,
  { environment, stdout, stderr }: CommandStreams,
): Promise<number> {
  const source = await openRouteSource(flags, environment);
  const options = readExplainOptions(
    flags,
    source.kind === 'cluster' ? source.namespace : undefined,
  );
  const { namespace, request, caller, isJson, devAllowLoopback } = options;
  const who = await readCaller(caller);
  const snapshot = await readSnapshot(
    source,
    { environment, stderr },
    { namespace, devAllowLoopback, readsIssuer: who.token !== undefined },
  );
  const service = source.kind === 'files' ? 'gatehouse' : 'proxy';
  using explainer = await RequestExplainer.open(snapshot, { devAllowLoopback, service });
  const report = await explainer.explain({ request, ...who });
  stdout.write(isJson ? `${JSON.stringify(report, null, 2)}\n` : renderReport(report));
  return EXIT_CODES[report.decision];
}

async function readCaller(caller: CallerFlags): Promise<Pick<AskedRequest, 'user' | 'token'>> {
  switch (caller.kind) {
    case 'anonymous':
      return {};
    case 'user':
      return { user: describeUser(caller.user) };
    case 'claims-file': {
      const claims = readObject(await readInput(caller.file), '--claims');
      const user = { ...caller.user, claims: { ...claims, ...caller.user.claims } };
      return { user: describeUser(checkedUser(user)) };
    }
    case 'token':
      return { token: checkedToken(caller.token) };
    case 'token-file':
      return { token: checkedToken((await readInput(caller.file)).trim()) };
  }
}

/** What the value of a header field can hold. A token of another form is refused by its verifier. */
const TOKEN = /^[\x21-\x7e]+$/;

/** Throws `CommandFailure`, without the token. */
function checkedToken(token: string): string {
  if (!TOKEN.test(token)) throw new CommandFailure('the token is empty, or not one word in ASCII');
  if (!isGatewayToken('external', token)) return token;
  throw new CommandFailure(
    'only the gateway that issued an external token can read it: give its user instead',
  );
}
