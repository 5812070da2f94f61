/**
 * Header fields that cut a response off from the window or frame that opened it, so that no script of its
 * origin can read its URL: it may hold a code of the identity provider.
 */
export const UNREADABLE_URL = {
  'cross-origin-opener-policy': 'same-origin',
  'x-frame-options': 'DENY',
} as const;
