import { isRecord } from '../../shared/runtime/is-record.ts';
import { withoutControls } from '../without-controls.ts';
import { renderPolicy } from './render-policy.ts';
import type { ExplainReport } from './report.ts';

/** Writes a report for people. */
export function renderReport(report: ExplainReport): string {
  const lines = [
    ...verdictLines(report),
    '',
    `request  ${requestLine(report)}`,
    `route    ${routeLine(report)}`,
    `user     ${userLine(report)}`,
    ...(report.policy === undefined
      ? []
      : ['', ...renderPolicy(report.policy, report.user !== undefined)]),
    '',
    report.log.length === 0 ? 'log      nothing' : 'log',
    ...report.log.map((record) => `  ${JSON.stringify(record)}`),
  ];
  return lines.map((line) => `${withoutControls(line).trimEnd()}\n`).join('');
}

/** Says in one line what happens and why; the challenge of an answer is a second one. */
function verdictLines({ decision, reasons, answer }: ExplainReport): readonly string[] {
  const why = reasons.length === 0 ? '' : `: ${reasons.join(', ')}`;
  if (answer === undefined) return [`${decision}${why}`];
  const { status, message = 'the gateway answers by itself', challenge } = answer;
  const what = status === undefined ? message : `status ${String(status)}, ${message}`;
  const asks = challenge === undefined ? [] : [`WWW-Authenticate: ${challenge}`];
  return [`${decision}${why} (${what})`, ...asks];
}

function requestLine({ request }: ExplainReport): string {
  const { method, host, target, clientAddress, time, message } = request;
  const what = message === undefined ? '' : `, ${messageText(message)}`;
  return `${method} ${host}${target}${what}, from ${clientAddress} at ${time}`;
}

function messageText(message: unknown): string {
  const { method, params } = isRecord(message) ? message : {};
  const { name, uri, arguments: given } = isRecord(params) ? params : {};
  const subject = name ?? uri;
  const parts = [method, subject, isRecord(given) && JSON.stringify(given)];
  return parts.filter((part) => typeof part === 'string').join(' ');
}

function routeLine({ route }: ExplainReport): string {
  if (route === undefined) return 'none';
  const { name, kind, from, host, path } = route;
  const fits = host === 'exact' ? 'the host is that of' : 'the host matches';
  return `${name} (${kind}): ${fits} ${from}, ${pathText(path)}`;
}

function pathText({ kind, value }: NonNullable<ExplainReport['route']>['path']): string {
  switch (kind) {
    case 'exact':
      return `the path is ${value}`;
    case 'prefix':
      return value === '' ? 'and it has all other paths' : `the path begins with ${value}`;
    case 'regex':
      return `the path matches ${value}`;
  }
}

function userLine({ user }: ExplainReport): string {
  if (user === undefined) return 'none known';
  const { subject, provider, email, groups, groupsAreUnknown } = user;
  const known = groupsAreUnknown === true ? 'unknown' : groups.join(', ') || 'none';
  const parts = [`${subject} of ${provider}`, email, `groups: ${known}`];
  return parts.filter((part) => part !== undefined).join(', ');
}
