import { createGuardedFetch } from '../../proxy/outbound/guarded-fetch.ts';
import type { Snapshot } from '../../shared/snapshot/snapshot.ts';
import type { Arguments } from '../arguments.ts';
import type { CommandStreams } from '../command.ts';
import { examine } from '../doctor/examine.ts';
import { patientAt, patientOfRoute, type Patient } from '../doctor/patient.ts';
import { renderFindings } from '../doctor/render-findings.ts';
import { readSnapshot } from '../explain/read-snapshot.ts';
import { fullRouteName } from '../explain/route-name.ts';
import { readRouteSource } from '../explain/route-source.ts';
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
  const namespace = flags.text('namespace');
  if (!target.includes('://')) {
    const name = fullRouteName(target, namespace);
    const snapshot = await snapshotFor(flags, streams, name.split('/')[0]);
    if (snapshot === undefined) throw new Error('a Route has a namespace');
    return patientOfRoute(name, snapshot);
  }
  if (!URL.canParse(target)) throw new UsageError(`${target} is not a URL`);
  return patientAt(target, await snapshotFor(flags, streams, namespace));
}

async function snapshotFor(
  flags: Arguments,
  streams: CommandStreams,
  namespace: string | undefined,
): Promise<Snapshot | undefined> {
  const source = readRouteSource(flags, namespace);
  if (source === undefined) return undefined;
  const devAllowLoopback = flags.isOn('dev-allow-loopback');
  return readSnapshot(source, streams, { devAllowLoopback, readsIssuer: false });
}
