import { formatAge } from './age.ts';
import type { CertificateFacts } from './certificate-facts.ts';
import type { StatusReport } from './status-report.ts';
import { table } from './table.ts';
import { withoutControls } from '../without-controls.ts';

const SECOND = 1000;
/** More would push the first ones out of sight. */
const SHOWN_PROBLEMS = 20;

/** Writes a report for people, problems first. */
export function renderStatus(report: StatusReport, now: number): string {
  const { gateway, problems, notes } = report;
  const count = problems.length;
  const verdict = count === 0 ? 'no problems' : `${String(count)} problem${count === 1 ? '' : 's'}`;
  return [
    `Gateway ${gateway.namespace}/${gateway.name}: ${verdict}\n`,
    problemPart(report),
    notes.map((note) => `Note: ${withoutControls(note)}\n`).join(''),
    table(facts(report, now)),
  ]
    .filter((part) => part !== '')
    .join('\n');
}

function problemPart({ problems }: StatusReport): string {
  const rows = problems
    .slice(0, SHOWN_PROBLEMS)
    .map(({ about, reason, message }) => [about, reason, message]);
  if (rows.length === 0) return '';
  const more = problems.length - rows.length;
  const rest = more === 0 ? '' : `and ${String(more)} more: see routes --problems\n`;
  return table([['PROBLEM WITH', 'REASON', 'MESSAGE'], ...rows]) + rest;
}

/** A row for each part that could be read. */
function facts(report: StatusReport, now: number): readonly (readonly string[])[] {
  const { settings, snapshot, proxies, leader, routes, certificates } = report;
  return [
    ...(settings ? [['Settings', settingsText(settings)]] : []),
    ...(settings && settings.addresses.length > 0
      ? [['Addresses', settings.addresses.join(', ')]]
      : []),
    ...(snapshot
      ? [['Snapshot', `${snapshot.revision}, published ${ago(snapshot.ageSeconds)}`]]
      : []),
    ...(proxies ? [['Proxies', proxiesText(proxies)]] : []),
    ...(leader ? [['Leader', leaderText(leader)]] : []),
    ...(routes ? [['Routes', routesText(routes)]] : []),
    ...(certificates.length > 0 ? [['Certificates', certificatesText(certificates, now)]] : []),
  ];
}

function settingsText({ generation, conditions }: NonNullable<StatusReport['settings']>): string {
  const states = conditions.map(({ type, status }) =>
    status === 'True' ? type : `${type}=${status}`,
  );
  return `generation ${String(generation)}: ${states.join(', ') || 'nothing is reported'}`;
}

function proxiesText(proxies: NonNullable<StatusReport['proxies']>): string {
  const { connected, ready, synced } = proxies;
  return `${String(connected)} connected, ${String(ready)} ready, ${String(synced)} with the newest snapshot`;
}

function leaderText({ pod, renewedSecondsAgo }: NonNullable<StatusReport['leader']>): string {
  if (pod === '') return 'none';
  return renewedSecondsAgo === undefined ? pod : `${pod}, renewed ${ago(renewedSecondsAgo)}`;
}

function routesText(routes: NonNullable<StatusReport['routes']>): string {
  const { namespace, total, serving, pending, problem } = routes;
  const where = namespace === '*' ? 'in all namespaces' : `in the namespace ${namespace}`;
  const states = [
    `${String(serving)} serving`,
    ...(pending > 0 ? [`${String(pending)} pending`] : []),
    ...(problem > 0 ? [`${String(problem)} with a problem`] : []),
  ];
  return `${String(total)} ${where}: ${states.join(', ')}`;
}

function certificatesText(certificates: readonly CertificateFacts[], now: number): string {
  const [{ secret, notAfter } = { secret: '', notAfter: '' }] = certificates;
  const left = Date.parse(notAfter) - now;
  const when = left > 0 ? `expires in ${formatAge(left)}` : `expired ${formatAge(-left)} ago`;
  return `${String(certificates.length)} in use; the first, of the Secret ${secret}, ${when}`;
}

function ago(seconds: number): string {
  return `${formatAge(seconds * SECOND)} ago`;
}
