import { flagCriterion } from '../operands/flag-criterion.ts';

/**
 * Whether the request is a CORS preflight, which carries no credentials (Fetch, section 4.8). The gateway
 * itself answers those of MCP routes, so that the criterion would never be true there.
 */
export const corsPreflight = flagCriterion(
  {
    name: 'cors_preflight',
    reasons: { whenTrue: 'cors-request', whenFalse: 'non-cors-request' },
    reads: ['preflight'],
    onlyOn: 'web',
    row: {
      looksAt:
        'whether the request is a [preflight](#preflights): `OPTIONS` with `Origin` and `Access-Control-Request-Method`',
      compares: '',
    },
  },
  ({ isPreflight }) => isPreflight,
);
