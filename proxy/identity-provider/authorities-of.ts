import { createSecureContext, type SecureContext } from 'node:tls';

import type { CompiledIdentityProvider } from '../../shared/snapshot/snapshot.ts';
import { oncePerObject } from '../cache/once-per-object.ts';

/** What is known of the certificate authorities of an identity provider. */
export type WithAuthorities = Pick<CompiledIdentityProvider, 'certificateAuthorities'>;

/**
 * Returns the certificate authorities of an identity provider, ready to check its servers; undefined if they are
 * those of the system. They are read once for each configuration of the provider: a bundle of a hundred
 * authorities takes milliseconds.
 */
export const authoritiesOf = oncePerObject(
  ({ certificateAuthorities: ca }: WithAuthorities): SecureContext | undefined =>
    ca === undefined ? undefined : createSecureContext({ ca }),
);
