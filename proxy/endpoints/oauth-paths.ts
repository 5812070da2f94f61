/** Where the authorization server for MCP clients answers, on every route host. */
export const OAUTH_PATHS = {
  register: '/.gateway/mcp/register',
  authorize: '/.gateway/mcp/authorize',
  consent: '/.gateway/mcp/consent',
  token: '/.gateway/mcp/token',
  revoke: '/.gateway/mcp/revoke',
  jwks: '/.gateway/jwks.json',
} as const;
