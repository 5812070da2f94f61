import { AUTHORIZATION_SERVER } from './authorization-server.ts';
import { MCP_RESOURCES } from './mcp.ts';
import { POLICY } from './policy.ts';
import { ROUTES } from './routes.ts';
import { TOKENS } from './tokens.ts';

/** Every requirement. Each is cited by a test: `coverage.test.ts` checks that. */
export const REQUIREMENTS = {
  ...ROUTES,
  ...MCP_RESOURCES,
  ...TOKENS,
  ...POLICY,
  ...AUTHORIZATION_SERVER,
} as const;

/** Id of a requirement. */
export type RequirementId = keyof typeof REQUIREMENTS;
