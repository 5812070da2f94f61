import type { Identity, Session } from '../records/session.ts';

/** Who makes a request. */
export type Caller =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'user'; readonly session: Session; readonly via: 'cookie' | 'external-token' };

export const ANONYMOUS: Caller = { kind: 'anonymous' };

export function identityOf(caller: Caller): Identity | undefined {
  return caller.kind === 'user' ? caller.session.identity : undefined;
}
