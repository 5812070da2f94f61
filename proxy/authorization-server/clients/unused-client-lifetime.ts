import type { CompiledSettings } from '../../../shared/snapshot/snapshot.ts';
import type { ClientStore } from '../../store/client-store.ts';
import type { Client } from '../../records/client.ts';

type Lifetimes = Pick<CompiledSettings, 'tokens' | 'unusedClientSeconds'>;

/** Long enough to sign in and to decide. */
const UNAPPROVED_CLIENT_SECONDS = 2 * 60 * 60;

/**
 * How long a client is remembered that registered itself, and that no user has approved. Short: anybody
 * may register, and what is registered is stored.
 */
export function unapprovedClientSeconds(settings: Lifetimes): number {
  return Math.min(UNAPPROVED_CLIENT_SECONDS, usedClientSeconds(settings));
}

/** Remembers a client that a user approved, or that used what it got for that. */
export async function keepUsedClient(
  clients: ClientStore,
  issuer: string,
  { id, source }: Client,
  settings: Lifetimes,
): Promise<void> {
  if (source === 'registration') await clients.touch(issuer, id, usedClientSeconds(settings));
}

/** What the settings say, but never less than the refresh token lives that it may just have got. */
function usedClientSeconds({ unusedClientSeconds, tokens }: Lifetimes): number {
  return Math.max(unusedClientSeconds, tokens.refreshTokenSeconds);
}
