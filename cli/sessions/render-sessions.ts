import { clip } from '../../shared/runtime/clip.ts';
import { withoutAbsent } from '../../shared/runtime/without-absent.ts';
import { formatAge } from '../cluster/age.ts';
import { table } from '../cluster/table.ts';
import type { RowPage } from './list-sessions.ts';
import { labelOf, type SessionRow } from './session-row.ts';

const HEADING = ['ID', 'KIND', 'USER', 'PROVIDER', 'CLIENT', 'CREATED', 'LAST USED', 'EXPIRES'];
/** Clients choose their names. */
const NAME_LENGTH = 40;

/** Writes a page of sessions for people. */
export function sessionTable(rows: readonly SessionRow[], now: number): string {
  const lines = rows.map((row) => [
    ...[row.id, row.kind, labelOf(row), row.user.provider],
    clip(row.client?.name ?? row.client?.id ?? '', NAME_LENGTH),
    ...[agoText(row.createdAt, now), agoText(row.usedAt, now)],
    formatAge(row.expiresAt - now),
  ]);
  return table([HEADING, ...lines]);
}

/** Returns a page of sessions as JSON shows it. */
export function sessionsValue({ rows, hasMore, unreadable }: RowPage<SessionRow>): object {
  const sessions = rows.map(({ user, client, createdAt, usedAt, expiresAt, ...row }) =>
    withoutAbsent({
      ...row,
      user: withoutAbsent(user),
      client: client && withoutAbsent(client),
      createdAt: timeOf(createdAt),
      usedAt: timeOf(usedAt),
      expiresAt: timeOf(expiresAt),
    }),
  );
  return { sessions, hasMore, unreadable };
}

/** Writes a time as an age; `-` if it is not known. */
export function agoText(time: number | undefined, now: number): string {
  return formatAge(now - (time ?? NaN));
}

/** Writes a time as JSON has it. */
export function timeOf(time: number | undefined): string | undefined {
  return time === undefined ? undefined : new Date(time).toISOString();
}

/** Says what a page leaves out. */
export function pageNotes({ hasMore, unreadable }: RowPage<unknown>, next: string): string {
  return [
    ...(hasMore ? [`There are more: ${next}`] : []),
    ...(unreadable > 0
      ? [`${String(unreadable)} records do not open with these sealing keys, and are not shown.`]
      : []),
  ]
    .map((line) => `${line}\n`)
    .join('');
}
