import type { SignInRecord } from '../../proxy/records/sign-in-record.ts';
import type { KeptRecord } from '../../proxy/store/redis/stores/redis-inventory.ts';
import { CommandFailure } from '../command-failure.ts';
import { isChosen, type UserChoice } from '../flags/user-flags.ts';
import { FirstRows } from './first-rows.ts';
import type { OperatorState } from './open-operator-state.ts';
import { compareSessions, grantRow, signInRow, type SessionRow } from './session-row.ts';

/** Which sessions to list. */
export interface SessionQuery {
  readonly users: UserChoice;
  readonly limit: number;
  /** The last id of the page before; undefined: the first page. */
  readonly after: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** A page of rows. */
export interface RowPage<Row> {
  readonly rows: readonly Row[];
  readonly hasMore: boolean;
  /** Records that these sealing keys do not open: it is unknown of whom they are. */
  readonly unreadable: number;
}

/** Lists sign-ins and the clients that were approved during them, in order of their users. */
export async function listSessions(
  state: OperatorState,
  { users, limit, after, now }: SessionQuery,
): Promise<RowPage<SessionRow>> {
  const last = after === undefined ? undefined : await rowOf(after, state, now);
  const first = new FirstRows({ limit, compare: compareSessions, after: last });
  let unreadable = 0;
  for await (const page of state.inventory.signIns()) {
    unreadable += page.unreadable;
    const chosen = page.records.filter(({ value }) => isChosen(value.identity, users));
    const pages = await Promise.all(chosen.map((kept) => rowsOf(kept, state, now)));
    for (const { rows, unreadable: more } of pages) {
      unreadable += more;
      for (const row of rows) first.add(row);
    }
  }
  const rows = await Promise.all(first.rows.map((row) => withLastUse(row, state)));
  return { rows, hasMore: first.hasMore, unreadable };
}

async function rowsOf(
  kept: KeptRecord<SignInRecord>,
  { inventory }: OperatorState,
  now: number,
): Promise<Pick<RowPage<SessionRow>, 'rows' | 'unreadable'>> {
  const row = signInRow(kept, now);
  const { records, unreadable } = await inventory.grantsOf(kept.value.identity);
  const grants = records.filter(({ value }) => value.signInId === row.id);
  return { rows: [row, ...grants.map((grant) => grantRow(grant, row, now))], unreadable };
}

/** A session begins with a sign-in, and again when it is used after its end: nothing else records its use. */
async function withLastUse(
  row: SessionRow,
  { stores: { signIns, sessions } }: OperatorState,
): Promise<SessionRow> {
  if (row.kind !== 'browser') return row;
  const signIn = (await signIns.get(row.id))?.signIn;
  const session = signIn && (await sessions.get(signIn.sessionId));
  return { ...row, usedAt: session?.createdAt };
}

/** Returns the row after which a page begins. It may have changed, as long as its place is the same. */
async function rowOf(id: string, state: OperatorState, now: number): Promise<SessionRow> {
  const { signIns, grants } = state.stores;
  const grant = await grants.get(id);
  const signInId = grant?.signInId ?? id;
  const signIn = (await signIns.get(signInId))?.signIn;
  if (signIn === undefined) {
    throw new CommandFailure(`--after ${id}: this session has ended; begin without --after`);
  }
  const row = signInRow({ value: signIn, remainingMs: 0 }, now);
  return grant === null ? row : grantRow({ value: grant, remainingMs: 0 }, row, now);
}
