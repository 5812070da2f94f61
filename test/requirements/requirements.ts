import { AUTHORIZATION_SERVER } from './authorization-server.ts';
import { MCP_RESOURCES } from './mcp.ts';
import { POLICY } from './policy.ts';
import { ROUTES } from './routes.ts';
import { TOKENS } from './tokens.ts';
import { TRACING } from './tracing.ts';
import { UPSTREAM_OAUTH } from './upstream-oauth.ts';

/** All requirements, by area. `coverage.test.ts` checks that each has one area, and a test. */
export const AREAS = [
  ROUTES,
  MCP_RESOURCES,
  TOKENS,
  POLICY,
  AUTHORIZATION_SERVER,
  UPSTREAM_OAUTH,
  TRACING,
] as const;

type IdsOf<Area> = Area extends unknown ? keyof Area : never;

/** Id of a requirement. */
export type RequirementId = IdsOf<(typeof AREAS)[number]>;
