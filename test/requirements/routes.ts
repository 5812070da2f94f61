import { SPEC, type Requirements } from './requirement.ts';

/** Routes, and how browsers sign in to them. */
export const ROUTES = {
  'route.from-to': {
    source: SPEC.route,
    behavior: 'A request to `from` is forwarded to `to`.',
  },
  'route.unknown-host': {
    source: SPEC.route,
    behavior: 'A request to a host that is no `from` is not served.',
  },
  'route.ambiguous-path': {
    source: 'docs/decisions.md: D-003',
    behavior:
      'Where the path decides who may do what, one that can be read in two ways is refused; elsewhere it passes byte for byte.',
  },
  'route.forwarded-headers': {
    source: 'RFC 9700, section 4.13',
    behavior:
      'What upstreams hear of the origin of a request (`X-Forwarded-*`, ...) is what the gateway saw.',
  },
  'route.client-address': {
    source: 'GatewaySettings: trustedProxies',
    behavior:
      'A client is who connected; behind trusted proxies, the last in `X-Forwarded-For` that is none of them.',
  },
  'route.gateway-cookies': {
    source: 'docs/sign-in.md: Cookies',
    behavior: 'Upstreams neither see the gateway’s cookies nor set them; all others pass.',
  },
  'route.policy': {
    source: SPEC.route,
    behavior: 'A route may carry a policy; who it does not allow is denied.',
  },
  'bearer.default-unchanged': {
    source: SPEC.bearer,
    behavior:
      'By default `Authorization: Bearer` passes to the upstream unchanged and uninterpreted, except on MCP server routes.',
  },
  'bearer.setting': {
    source: SPEC.bearerSetting,
    behavior:
      '`bearer_token_format` and `BEARER_TOKEN_FORMAT` take the four formats, `unset` and `unknown`.',
  },
  'bearer.providers': {
    source: SPEC.bearer,
    behavior:
      'Rule 3: every provider has the tokens, except Apple access tokens, and GitHub identity tokens.',
  },
  'bearer.effective-format': {
    source: SPEC.bearer,
    behavior: 'The format is set globally and per route, and the route counts more.',
  },
  'bearer.cookie-and-token': {
    source: SPEC.bearer,
    behavior: 'A request with both a session cookie and a bearer token is rejected with 400.',
  },
  'bearer.no-token': {
    source: SPEC.bearer,
    behavior: 'A bearer route that receives no token answers 401, and never redirects.',
  },
  'bearer.invalid-token': {
    source: 'docs/bearer-tokens.md: The answers',
    behavior: 'A token that is not valid is 401 `invalid_token`; its provider being away is 503.',
  },
  'bearer.matrix': {
    source: 'docs/bearer-tokens.md: The formats',
    behavior: 'Each format accepts its own tokens, and refuses every other credential.',
  },
  'bearer.groups': {
    source: 'docs/bearer-tokens.md: Groups of tokens',
    behavior: 'Groups that a token leaves out count against a request whose policy tests them.',
  },
  'bearer.policy': {
    source: SPEC.bearer,
    behavior: 'The route policy decides on the claims: a verified token alone grants nothing.',
  },
  'bearer.same-session': {
    source: SPEC.bearer,
    behavior: 'The same token maps to the same session, which ends when the token does.',
  },
  'bearer.upstream': {
    source: 'docs/bearer-tokens.md: What the upstream gets',
    behavior: 'A token that the gateway interprets stays there; the upstream gets the assertion.',
  },
  'bearer.mcp': {
    source: 'docs/bearer-tokens.md: Workloads on an MCP route',
    behavior: 'An MCP route with an interpreting format takes such tokens beside external tokens.',
  },
  'bearer.exempt': {
    source: 'docs/bearer-tokens.md: The formats',
    behavior: 'The format does not apply to endpoints of the gateway and to public routes.',
  },
  'bearer.cost': {
    source: 'docs/bearer-tokens.md: How long a token counts',
    behavior: 'A token that counts needs no provider, and bad tokens do not flood one.',
  },
  'web.sign-in-redirect': {
    source: 'docs/sign-in.md: What happens',
    behavior:
      'Without a session a navigation is sent to sign in and comes back to the page it asked for; all else is 401.',
  },
  'web.session': {
    source: 'docs/sign-in.md: Cookies',
    behavior: 'A session cookie stands for its user, at the host it was set for, until it ends.',
  },
  'web.public': {
    source: 'Route: allowPublicUnauthenticatedAccess',
    behavior: 'A public route is served to everyone, without sign-in.',
  },
  'web.any-user': {
    source: 'Route: allowAnyAuthenticatedUser',
    behavior: 'A route for any authenticated user takes everyone who is signed in.',
  },
  'web.websockets': {
    source: 'Route: allowWebsockets',
    behavior:
      'WebSockets pass where the route allows them, after the same checks as requests; never on MCP routes.',
  },
  'web.websocket-origin': {
    source: 'Route: websocketAllowedOrigins; RFC 6455, section 10.2',
    behavior:
      'A WebSocket handshake with an Origin is accepted only from the origin of the route, or from one that the route lists.',
  },
} as const satisfies Requirements;
