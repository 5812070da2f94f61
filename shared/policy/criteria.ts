import { accept } from './criteria/accept.ts';
import { authenticatedUser } from './criteria/authenticated-user.ts';
import { claim } from './criteria/claim.ts';
import { corsPreflight } from './criteria/cors-preflight.ts';
import { date } from './criteria/date.ts';
import { dayOfWeek } from './criteria/day-of-week.ts';
import { domain } from './criteria/domain.ts';
import { email } from './criteria/email.ts';
import { groups } from './criteria/groups.ts';
import { httpMethod } from './criteria/http-method.ts';
import { httpPath } from './criteria/http-path.ts';
import { mcpMethod } from './criteria/mcp-method.ts';
import { mcpPrompt } from './criteria/mcp-prompt.ts';
import { mcpResource } from './criteria/mcp-resource.ts';
import { mcpTool } from './criteria/mcp-tool.ts';
import { mcpToolArgument } from './criteria/mcp-tool-argument.ts';
import { reject } from './criteria/reject.ts';
import { sourceIp } from './criteria/source-ip.ts';
import { timeOfDay } from './criteria/time-of-day.ts';
import { user } from './criteria/user.ts';
import type { CriterionDefinition } from './language/criterion-definition.ts';

/** Every kind of criterion, in the order of the documentation. */
export const CRITERIA = [
  accept,
  reject,
  authenticatedUser,
  user,
  email,
  domain,
  groups,
  claim,
  httpMethod,
  httpPath,
  sourceIp,
  corsPreflight,
  date,
  dayOfWeek,
  timeOfDay,
  mcpMethod,
  mcpTool,
  mcpToolArgument,
  mcpResource,
  mcpPrompt,
] as const;

/** Codes of the criteria of which only the call of a tool is denied. */
export const REASONS_OF_TOOL_CALLS: readonly CriterionDefinition['reasons'][] = CRITERIA.filter(
  ({ ofToolCall }) => ofToolCall === true,
).map(({ reasons }) => reasons);

const BY_NAME: ReadonlyMap<string, CriterionDefinition> = new Map(
  // Each definition is called with operands of its own form only.
  CRITERIA.map((definition) => [definition.name, definition as unknown as CriterionDefinition]),
);

/** Returns the definition of a kind of criterion; undefined if there is none of this name. */
export function definitionOf(name: string): CriterionDefinition | undefined {
  return BY_NAME.get(name);
}
