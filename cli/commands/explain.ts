import { isGatewayToken } from '../../proxy/crypto/gateway-token.ts';
import type { Snapshot } from '../../shared/snapshot/snapshot.ts';
import type { Arguments } from '../arguments.ts';
import { CommandFailure } from '../command-failure.ts';
import type { CommandStreams } from '../command.ts';
import type { ClusterPart } from '../explain/read-cluster.ts';
import { describeUser } from '../explain/describe-user.ts';
import { RequestExplainer, type AskedRequest } from '../explain/explain-request.ts';
import { readFiles } from '../explain/read-files.ts';
import { renderReport } from '../explain/render-report.ts';
import { readInput } from '../process/read-input.ts';
import {
  checkedUser,
  readExplainOptions,
  readObject,
  type CallerFlags,
  type ClusterFlags,
} from './explain/explain-options.ts';

const EXIT_CODES = { allow: 0, deny: 3, none: 1, failure: 1 } as const;

/** Runs `gatehouse explain`. Resolves with 0 if the request is permitted, and with 3 if it is refused. */
export async function runExplain(
  flags: Arguments,
  { environment, stdout, stderr }: CommandStreams,
): Promise<number> {
  const { source, request, caller, isJson, devAllowLoopback } = readExplainOptions(flags);
  const who = await readCaller(caller);
  const snapshot =
    source.kind === 'files'
      ? await readFiles({ paths: source.paths, environment, devAllowLoopback })
      : await snapshotOfCluster(
          { ...source.cluster, readsIssuer: who.token !== undefined },
          { environment, stderr },
        );
  const service = source.kind === 'files' ? 'gatehouse' : 'proxy';
  using explainer = await RequestExplainer.open(snapshot, { devAllowLoopback, service });
  const report = await explainer.explain({ request, ...who });
  stdout.write(isJson ? `${JSON.stringify(report, null, 2)}\n` : renderReport(report));
  return EXIT_CODES[report.decision];
}

async function snapshotOfCluster(
  { kubeconfig, ...part }: ClusterFlags & Pick<ClusterPart, 'readsIssuer'>,
  { environment, stderr }: Pick<CommandStreams, 'environment' | 'stderr'>,
): Promise<Snapshot> {
  const [{ readCluster }, { connectToCluster }] = await Promise.all([
    import('../explain/read-cluster.ts'),
    import('../process/connect-to-cluster.ts'),
  ]);
  const { api } = await connectToCluster(kubeconfig, environment).catch(orFiles);
  const { snapshot, problems } = await readCluster(api, part);
  stderr.write(problems.map((problem) => `gatehouse: ${problem}\n`).join(''));
  return snapshot;
}

/** Who wants to explain files may have forgotten the flag for them. */
function orFiles(error: unknown): never {
  if (!(error instanceof CommandFailure)) throw error;
  throw new CommandFailure(`${error.message}; to explain files, give --file`, { cause: error });
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
