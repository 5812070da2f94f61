import { createGuardedFetch } from '../../proxy/outbound/guarded-fetch.ts';
import type { Snapshot } from '../../shared/snapshot/snapshot.ts';
import type { Arguments } from '../arguments.ts';
import type { CommandStreams } from '../command.ts';
import { examine } from '../doctor/examine.ts';
import { patientAt, patientOfRoute, type Patient } from '../doctor/patient.ts';
import { renderFindings } from '../doctor/render-findings.ts';
import { readSnapshot } from '../explain/read-snapshot.ts';
import { fullRouteName } from '../explain/route-name.ts';
import { openRouteSource, type RouteSource } from '../explain/route-source.ts';
import { readNamespaceFlags } from '../flags/cluster-flags.ts';
import { UsageError } from '../usage-error.ts';

/** Runs `gatehouse doctor`. Resolves with 0 only if connecting could succeed. */
export async function runDoctor(flags: Arguments, streams: CommandStreams): Promise<number> {
  const devAllowLoopback = flags.isOn('dev-allow-loopback');
  const patient = await findPatient(flags, streams);
  const guardedFetch = createGuardedFetch({ devAllowLoopback });
  const findings = await examine(patient, { guardedFetch, devAllowLoopback, now: Date.now });
  streams.stdout.write(renderFindings(patient, findings));
  return findings.failure === undefined ? 0 : 1;
}

async function findPatient(flags: Arguments, streams: CommandStreams): Promise<Patient> {
  const [target = '', another] = flags.operands;
  if (another !== undefined) throw new UsageError('give one URL or Route');
  const choice = readNamespaceFlags(flags);
  const named = choice.kind === 'one' ? choice.namespace : undefined;
  if (!target.includes('://')) {
    const source = await openRouteSource(flags, streams.environment);
    const usual = source.kind === 'cluster' ? source.namespace : undefined;
    const name = fullRouteName(target, named ?? usual);
    return patientOfRoute(name, await snapshotOf(source, name.split('/')[0], flags, streams));
  }
  if (!URL.canParse(target)) throw new UsageError(`${target} is not a URL`);
  if (!namesSource(flags)) return patientAt(target, undefined);
  const source = await openRouteSource(flags, streams.environment);
  return patientAt(target, await snapshotOf(source, named, flags, streams));
}

/** A URL alone needs neither files nor a cluster. */
function namesSource(flags: Arguments): boolean {
  const texts = ['kubeconfig', 'context', 'namespace'].map((flag) => flags.text(flag));
  const isNamed = texts.some((text) => text !== undefined) || flags.isOn('all-namespaces');
  return isNamed || flags.list('file').length > 0;
}

function snapshotOf(
  source: RouteSource,
  namespace: string | undefined,
  flags: Arguments,
  streams: CommandStreams,
): Promise<Snapshot> {
  const devAllowLoopback = flags.isOn('dev-allow-loopback');
  return readSnapshot(source, streams, { namespace, devAllowLoopback, readsIssuer: false });
}
