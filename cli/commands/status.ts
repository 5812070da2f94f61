import type { Arguments } from '../arguments.ts';
import { formatValue, readOutput } from '../cluster/output.ts';
import { readGateway, type GatewayFacts } from '../cluster/read-gateway.ts';
import { renderStatus } from '../cluster/render-status.ts';
import { statusReport } from '../cluster/status-report.ts';
import { CommandFailure } from '../command-failure.ts';
import type { CommandStreams } from '../command.ts';
import { DEFAULT_NAMESPACE } from '../explain/route-name.ts';
import { openClusterSource } from '../explain/route-source.ts';
import { readNamespaceFlags } from '../flags/cluster-flags.ts';
import { STATUS_FORMS } from './status/status-flags.ts';

/** Runs `gatehouse status`. Resolves with 1 if something is wrong with the gateway. */
export async function runStatus(
  flags: Arguments,
  { environment, stdout }: CommandStreams,
): Promise<number> {
  const form = readOutput(flags, STATUS_FORMS);
  const choice = readNamespaceFlags(flags);
  const cluster = await openClusterSource(flags, environment);
  const now = Date.now();
  const usualNamespace = cluster.namespace ?? DEFAULT_NAMESPACE;
  const facts = await readGateway(cluster.api, { ...cluster, choice, usualNamespace, now });
  refuseIfNothingIsReadable(facts);
  const report = statusReport(facts, cluster, now);
  stdout.write(form === undefined ? renderStatus(report, now) : await formatValue(report, form));
  return report.problems.length === 0 ? 0 : 1;
}

function refuseIfNothingIsReadable({ settings, lease, routes }: GatewayFacts): void {
  const reasons = [settings, lease, routes].flatMap((part) =>
    part.kind === 'forbidden' ? [part.why] : [],
  );
  const isAllForbidden = reasons.length === [settings, lease, routes].length;
  if (isAllForbidden) throw new CommandFailure(reasons.join('\n'));
}
