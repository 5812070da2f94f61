import { hashToken } from '../../proxy/crypto/tokens.ts';
import type { UserConnection } from '../../proxy/records/user-entry.ts';
import type { UserReference } from '../../proxy/records/user-key.ts';
import type { KeyKind } from '../../proxy/store/redis/records/keys.ts';
import type { Stores } from '../../proxy/store/stores.ts';
import {
  A_CONNECTION_NEED,
  A_PENDING_AUTHORIZATION,
  A_PENDING_CONNECTION,
  A_PENDING_SIGN_IN,
  A_SIGN_IN_CODE,
  aBrowserSession,
  aClient,
  aGrant,
  AN_INTERNAL_TOKEN,
  AN_UPSTREAM_REGISTRATION,
  anAuthorizationCode,
  anInternalTokenKey,
  aRegistrationKey,
  aSession,
  aSignIn,
} from './redis-records.ts';

/** Lifetime of the records, in seconds. */
export const LIFE_SECONDS = 600;

/** A kind of record in Redis, how one is saved, and how it is read. */
export interface SealedKind {
  readonly kind: KeyKind;
  readonly save: (stores: Stores, id: string, now: number) => Promise<unknown>;
  readonly read: (stores: Stores, id: string) => Promise<unknown>;
}

/** Every kind of sealed record that is read by an id. */
export const SEALED_KINDS: readonly SealedKind[] = [
  {
    kind: 'session',
    save: ({ sessions }, id, now) => sessions.create(aSession(id, now)),
    read: ({ sessions }, id) => sessions.get(id),
  },
  {
    kind: 'browser-sessions',
    save: ({ browserSessions }, id, now) =>
      browserSessions.save(
        hashToken(`cookie of ${id}`),
        aBrowserSession(id),
        now + LIFE_SECONDS * 1000,
      ),
    read: ({ browserSessions }, id) => browserSessions.get(hashToken(`cookie of ${id}`)),
  },
  {
    kind: 'sign-in',
    save: ({ signIns }, id) => signIns.create(aSignIn(id), LIFE_SECONDS),
    read: ({ signIns }, id) => signIns.get(id),
  },
  {
    kind: 'pending-sign-in',
    save: ({ pendingSignIns }, id) =>
      pendingSignIns.save(hashToken(id), A_PENDING_SIGN_IN, LIFE_SECONDS),
    read: ({ pendingSignIns }, id) => pendingSignIns.peek(hashToken(id)),
  },
  {
    kind: 'sign-in-code',
    save: ({ signInCodes }, id) => signInCodes.save(hashToken(id), A_SIGN_IN_CODE, LIFE_SECONDS),
    read: ({ signInCodes }, id) => signInCodes.peek(hashToken(id)),
  },
  {
    kind: 'pending-authorization',
    save: ({ pendingAuthorizations }, id) =>
      pendingAuthorizations.save(id, A_PENDING_AUTHORIZATION, LIFE_SECONDS),
    read: ({ pendingAuthorizations }, id) => pendingAuthorizations.peek(id),
  },
  {
    kind: 'client',
    save: ({ clients }, id) => clients.register(aClient(id), LIFE_SECONDS),
    read: ({ clients }, id) => clients.get(aClient(id).issuer, id),
  },
  {
    kind: 'authorization-code',
    save: ({ authorizationCodes }, id) =>
      authorizationCodes.save(hashToken(id), anAuthorizationCode(`grant of ${id}`), LIFE_SECONDS),
    read: ({ authorizationCodes }, id) => authorizationCodes.peek(hashToken(id)),
  },
  {
    kind: 'grant',
    save: ({ grants }, id) => grants.create(aGrant(id), LIFE_SECONDS),
    read: ({ grants }, id) => grants.get(id),
  },
  {
    kind: 'internal-token',
    save: ({ internalTokens }, id) =>
      internalTokens.save(anInternalTokenKey(id), AN_INTERNAL_TOKEN),
    read: ({ internalTokens }, id) => internalTokens.get(anInternalTokenKey(id)),
  },
  {
    kind: 'connection-need',
    save: ({ connectionNeeds }, id) =>
      connectionNeeds.put(anInternalTokenKey(id), A_CONNECTION_NEED, LIFE_SECONDS),
    read: ({ connectionNeeds }, id) => connectionNeeds.get(anInternalTokenKey(id)),
  },
  {
    kind: 'pending-connection',
    save: ({ pendingConnections }, id) =>
      pendingConnections.save(hashToken(id), A_PENDING_CONNECTION, LIFE_SECONDS),
    read: ({ pendingConnections }, id) => pendingConnections.peek(hashToken(id)),
  },
  {
    kind: 'upstream-registration',
    save: ({ upstreamRegistrations }, id) =>
      upstreamRegistrations.save(aRegistrationKey(id), AN_UPSTREAM_REGISTRATION, LIFE_SECONDS),
    read: ({ upstreamRegistrations }, id) => upstreamRegistrations.get(aRegistrationKey(id)),
  },
  {
    kind: 'user-connections',
    save: ({ connectionsOfUsers }, id) =>
      connectionsOfUsers.keep(userOf(id), aConnection(id), LIFE_SECONDS),
    read: ({ connectionsOfUsers }, id) => connectionsOfUsers.list(userOf(id)),
  },
  {
    kind: 'user-grants',
    save: ({ grantsOfUsers }, id) => grantsOfUsers.keep(userOf(id), { id }, LIFE_SECONDS),
    read: ({ grantsOfUsers }, id) => grantsOfUsers.list(userOf(id)),
  },
  {
    kind: 'user-sign-ins',
    save: ({ signInsOfUsers }, id) => signInsOfUsers.keep(userOf(id), { id }, LIFE_SECONDS),
    read: ({ signInsOfUsers }, id) => signInsOfUsers.list(userOf(id)),
  },
];

function userOf(id: string): UserReference {
  return { provider: 'corp', issuer: 'https://idp.example.com', subject: `user ${id}` };
}

function aConnection(id: string): UserConnection {
  return { id, routeId: id, binding: 'binding-1', routeName: 'tools' };
}

const EXTENSIONS: Partial<Record<KeyKind, (stores: Stores, id: string) => Promise<void>>> = {
  'sign-in': ({ signIns }, id) => signIns.extend(id, 2 * LIFE_SECONDS),
  client: ({ clients }, id) => clients.keepApproved(aClient(id).issuer, id, 2 * LIFE_SECONDS),
  grant: ({ grants }, id) => grants.use(id, 1, 2 * LIFE_SECONDS),
  'upstream-registration': ({ upstreamRegistrations }, id) =>
    upstreamRegistrations.extend(aRegistrationKey(id), 2 * LIFE_SECONDS),
};

/** Records that live longer when they are used. */
export const EXTENDED_KINDS = SEALED_KINDS.flatMap((sealed) => {
  const extend = EXTENSIONS[sealed.kind];
  return extend === undefined ? [] : [{ ...sealed, extend }];
});
