import type { Grant } from '../../proxy/records/grant.ts';
import type { Identity } from '../../proxy/records/session.ts';
import type { RegisteredClient } from '../../proxy/records/registered-client.ts';
import { compareText } from '../../shared/runtime/compare-text.ts';
import { isChosen, type UserChoice } from '../flags/user-flags.ts';
import { FirstRows } from './first-rows.ts';
import type { RowPage } from './list-sessions.ts';
import type { OperatorState } from './open-operator-state.ts';

/** A client at one authorization server. */
export interface ClientRow {
  readonly id: string;
  /** Origin of the authorization server, which is that of the routes. */
  readonly issuer: string;
  /** `url`: the id is the URL of its metadata. */
  readonly kind: 'registered' | 'url';
  /** The client's own words. */
  readonly name: string | undefined;
  /** How many grants of users it has. */
  readonly grants: number;
  /** Milliseconds since the epoch. */
  readonly usedAt: number | undefined;
  readonly registeredAt: number | undefined;
}

/** A grant, and whose it is. */
export interface GrantOfUser {
  readonly grant: Grant;
  readonly identity: Identity;
}

/** Iterates over the grants of the users who fit. */
export async function* grantsOfUsers(
  { inventory }: OperatorState,
  users: UserChoice,
): AsyncGenerator<{ readonly grants: readonly GrantOfUser[]; readonly unreadable: number }, void> {
  for await (const { records, unreadable } of inventory.signIns()) {
    const chosen = records.filter(({ value }) => isChosen(value.identity, users));
    const found = await Promise.all(
      chosen.map(async ({ value: { id, identity } }) => {
        const { records: grants, unreadable: more } = await inventory.grantsOf(identity);
        // A user with several sign-ins comes several times.
        const own = grants.filter(({ value }) => value.signInId === id);
        return { own: own.map(({ value: grant }) => ({ grant, identity })), more };
      }),
    );
    yield {
      grants: found.flatMap(({ own }) => own),
      unreadable: found.reduce((sum, { more }) => sum + more, unreadable),
    };
  }
}

/** Lists the clients with grants of the users who fit; without a choice of users, all that registered too. */
export async function listClients(
  state: OperatorState,
  { users, limit }: { readonly users: UserChoice; readonly limit: number },
): Promise<RowPage<ClientRow>> {
  const granted = new Map<string, ClientRow>();
  let unreadable = 0;
  for await (const page of grantsOfUsers(state, users)) {
    unreadable += page.unreadable;
    for (const { grant } of page.grants) {
      const key = keyOf(grant.issuer, grant.clientId);
      granted.set(key, withGrant(granted.get(key), grant));
    }
  }
  const first = new FirstRows<ClientRow>({ limit, compare: compareClients });
  if (Object.keys(users).length === 0) {
    for await (const page of state.inventory.clients()) {
      unreadable += page.unreadable;
      for (const { value } of page.records) {
        const key = keyOf(value.issuer, value.id);
        first.add(registeredRow(value, granted.get(key)));
        granted.delete(key);
      }
    }
  }
  for (const row of granted.values()) first.add(row);
  return { rows: first.rows, hasMore: first.hasMore, unreadable };
}

function withGrant(row: ClientRow | undefined, grant: Grant): ClientRow {
  const { clientId: id, issuer, clientName, usedAt } = grant;
  return {
    ...{ id, issuer, kind: URL.canParse(id) ? 'url' : 'registered' },
    name: clientName ?? row?.name,
    grants: (row?.grants ?? 0) + 1,
    usedAt: latest(usedAt, row?.usedAt),
    registeredAt: undefined,
  };
}

function registeredRow(
  { id, issuer, metadata: { clientName }, registeredAt }: RegisteredClient,
  granted: ClientRow | undefined,
): ClientRow {
  const { grants = 0, usedAt } = granted ?? {};
  return { id, issuer, kind: 'registered', name: clientName, grants, usedAt, registeredAt };
}

function latest(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
}

function keyOf(issuer: string, id: string): string {
  return `${issuer} ${id}`;
}

/** Clients of users first: anybody may register others. */
function compareClients(a: ClientRow, b: ClientRow): number {
  const unused = Number(a.grants === 0) - Number(b.grants === 0);
  return unused || compareText(a.id, b.id) || compareText(a.issuer, b.issuer);
}
