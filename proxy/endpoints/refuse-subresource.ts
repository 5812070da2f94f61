import { ForbiddenError } from '../errors/denial-errors.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';

type Request = Pick<GatewayRequest, 'message'>;

const FRAMES: readonly unknown[] = ['iframe', 'frame', 'fencedframe', 'object', 'embed'];

/**
 * Refuses what a page loads by itself, such as an image. Attack: a web page has its visitors send requests until
 * their network has reached its limit, so this comes before the limit counts.
 *
 * Programs that are no browsers may send `Sec-Fetch-Mode`, as `fetch` of Node does, but no `Sec-Fetch-Dest`.
 */
export function refuseSubresource({ message: { headers } }: Request): void {
  const { 'sec-fetch-mode': mode = 'navigate', 'sec-fetch-dest': dest } = headers;
  if (dest !== undefined && mode !== 'navigate') throw new ForbiddenError('not-a-navigation');
}

/** Refuses what a page loads by itself, and frames too: a page can have a thousand that nobody sees. */
export function refuseEmbedded(request: Request): void {
  refuseSubresource(request);
  if (FRAMES.includes(request.message.headers['sec-fetch-dest'])) {
    throw new ForbiddenError('not-a-navigation');
  }
}
