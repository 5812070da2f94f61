import { oncePerText } from '../../../shared/telemetry/once-per-text.ts';
import { GATEWAY_TOKEN_PREFIXES } from '../../../shared/runtime/gateway-token-prefixes.ts';

const REMOVED = '***';

/** What a segment has in a path that names a person or holds a token of the gateway. */
const PERSONAL = new RegExp(
  `[^/](?:@|%40)[^/]|^(?:${Object.values(GATEWAY_TOKEN_PREFIXES).join('|')})`,
);

/** Returns a path as spans have it: without e-mail addresses and the gateway's own tokens. */
export const tracedPath = oncePerText((path) => {
  const segments = path.split('/').map((segment) => (PERSONAL.test(segment) ? REMOVED : segment));
  return segments.join('/');
});
