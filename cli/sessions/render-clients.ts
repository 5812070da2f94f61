import { clip } from '../../shared/runtime/clip.ts';
import { withoutAbsent } from '../../shared/runtime/without-absent.ts';
import { table } from '../cluster/table.ts';
import type { ClientRow } from './client-rows.ts';
import type { RowPage } from './list-sessions.ts';
import { agoText, timeOf } from './render-sessions.ts';

const HEADING = ['CLIENT', 'NAME', 'KIND', 'ISSUER', 'GRANTS', 'LAST USED', 'REGISTERED'];
/** Clients choose their names. */
const NAME_LENGTH = 40;

/** Writes clients for people. */
export function clientTable(rows: readonly ClientRow[], now: number): string {
  const lines = rows.map(({ id, name = '', kind, issuer, grants, usedAt, registeredAt }) => [
    ...[id, clip(name, NAME_LENGTH), kind, issuer, String(grants)],
    ...[agoText(usedAt, now), agoText(registeredAt, now)],
  ]);
  return table([HEADING, ...lines]);
}

/** Returns clients as JSON shows them. */
export function clientsValue({ rows, hasMore, unreadable }: RowPage<ClientRow>): object {
  const clients = rows.map(({ usedAt, registeredAt, ...row }) =>
    withoutAbsent({ ...row, usedAt: timeOf(usedAt), registeredAt: timeOf(registeredAt) }),
  );
  return { clients, hasMore, unreadable };
}
