import type { Identity } from '../records/session.ts';

/** The facts about a request that the criteria of a policy may test. */
export interface PolicyInput {
  readonly identity: Identity | undefined;
  readonly method: string;
  /** Raw path of the request, without the query. */
  readonly path: string;
  /** `params.name` of a `tools/call`; absent for every other request. */
  readonly toolName: string | undefined;
}

/** The result of a policy for one request, which is permitted if `allow && !deny`. */
export interface Decision {
  readonly allow: boolean;
  /** Codes such as `domain-ok` that explain `allow`, each once, in the order and, or, not, nor. */
  readonly allowReasons: readonly string[];
  readonly deny: boolean;
  readonly denyReasons: readonly string[];
}

/** A policy ready to be evaluated. Pure: no I/O, no clock; evaluation never throws. */
export interface PolicyEvaluator {
  decide(input: PolicyInput): Decision;
  /** Whether a criterion is `mcp_tool`, so that the tools of a request matter. */
  readonly namesTools: boolean;
  /**
   * Returns whether the request would be permitted if every `mcp_tool` criterion favoured it. If so,
   * only the tool is denied, and the model gets the answer.
   */
  wouldPermitSomeTool(input: PolicyInput): boolean;
}
