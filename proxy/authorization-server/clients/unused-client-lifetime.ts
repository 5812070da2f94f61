import type { CompiledSettings } from '../../../shared/snapshot/snapshot.ts';
import type { ClientStore } from '../../store/client-store.ts';
import type { Client } from '../../records/client.ts';

type Lifetimes = Pick<CompiledSettings, 'tokens' | 'unusedClientSeconds'>;

/** Long enough to sign in and to decide about the consent. */
const UNAPPROVED_CLIENT_SECONDS = 2 * 60 * 60;

/**
 * Returns how long a registered client that no user has approved is remembered. Short: anybody may
 * register, and every registration is stored.
 */
export function unapprovedClientSeconds(settings: Lifetimes): number {
  return Math.min(UNAPPROVED_CLIENT_SECONDS, usedClientSeconds(settings));
}

/** Extends the lifetime of a registered client that a user has just approved, or that used its grant. */
export async function keepUsedClient(
  clients: ClientStore,
  issuer: string,
  { id, source }: Client,
  settings: Lifetimes,
): Promise<void> {
  if (source !== 'registration') return;
  await clients.keepApproved(issuer, id, usedClientSeconds(settings));
}

/** At least the lifetime of the refresh token that the client may just have received. */
function usedClientSeconds({ unusedClientSeconds, tokens }: Lifetimes): number {
  return Math.max(unusedClientSeconds, tokens.refreshTokenSeconds);
}
