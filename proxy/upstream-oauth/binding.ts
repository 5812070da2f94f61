import { createHash } from 'node:crypto';

import type { CompiledRoute } from '../../shared/snapshot/snapshot.ts';
import { oncePerObject } from '../cache/once-per-object.ts';
import { upstreamOf } from './discovery/upstream.ts';

/**
 * Returns a digest of where the tokens of a route come from and go to. They are kept under it, so that a
 * changed upstream, client or authorization server never gets the tokens of another one.
 *
 * Throws for routes without upstream OAuth.
 */
export const bindingOf = oncePerObject((route: CompiledRoute): string => {
  const { url, oauth } = upstreamOf(route);
  const { client, endpoints, fallbackIssuer } = oauth;
  const parts = [url, client?.id, endpoints?.authorizationUrl, endpoints?.tokenUrl, fallbackIssuer];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
});
