/**
 * The paths that the gateway serves itself (specification: Endpoints), besides the default paths.
 *
 * Paths under `/.gateway/` exist on every host. Those of `/.well-known/` exist on hosts with an MCP
 * server route, and the path of a resource may follow them.
 */
export const PATHS = {
  account: '/.gateway/',
  signIn: '/.gateway/sign_in',
  callback: '/.gateway/callback',
  /** Followed by the name of an identity provider. */
  callbackOfProvider: '/.gateway/callback/',
  signOut: '/.gateway/sign_out',
  jwks: '/.gateway/jwks.json',
  register: '/.gateway/mcp/register',
  authorize: '/.gateway/mcp/authorize',
  consent: '/.gateway/mcp/consent',
  token: '/.gateway/mcp/token',
  revoke: '/.gateway/mcp/revoke',
  /** The redirect URI of the gateway at the authorization servers of upstreams. */
  connectionCallback: '/.gateway/mcp/client/oauth/callback',
  /** The gateway's client ID metadata document towards upstreams. */
  upstreamClientMetadata: '/.gateway/mcp/client/metadata.json',
  /** The list of MCP servers, and disconnecting from them: on hosts with an `mcp.client` route. */
  routes: '/.gateway/mcp/routes',
  disconnect: '/.gateway/mcp/disconnect',
  /** Where a user connects an account at an upstream: on hosts with an MCP server route. */
  connect: '/.gateway/mcp/connect',
  protectedResource: '/.well-known/oauth-protected-resource',
  authorizationServer: '/.well-known/oauth-authorization-server',
  openIdConfiguration: '/.well-known/openid-configuration',
} as const;

/**
 * The endpoints at the paths where clients look that have not read the metadata.
 *
 * MCP 2025-03-26 names these paths. Some clients refresh there after each start, because they keep their
 * tokens and not the metadata.
 */
export const DEFAULT_PATHS = {
  '/authorize': PATHS.authorize,
  '/token': PATHS.token,
  '/register': PATHS.register,
} as const;
