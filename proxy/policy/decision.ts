import type { Identity } from '../records/session.ts';

/** Everything a policy may ask about. */
export interface PolicyInput {
  readonly identity: Identity | undefined;
  readonly method: string;
  /** Raw path of the request, without the query. */
  readonly path: string;
  /** `params.name` of a `tools/call`; absent for every other request. */
  readonly toolName: string | undefined;
}

/** What a policy says of a request: permitted is `allow && !deny`. */
export interface Decision {
  readonly allow: boolean;
  /** Why `allow` is what it is: codes such as `domain-ok`, each once, in the policy's order. */
  readonly allowReasons: readonly string[];
  readonly deny: boolean;
  readonly denyReasons: readonly string[];
}

/** A policy compiled to closures. Pure: no I/O, no clock; evaluation never throws. */
export interface PolicyEvaluator {
  decide(input: PolicyInput): Decision;
  /**
   * Whether the request would be permitted if every `mcp_tool` criterion spoke for it. Then the
   * denial is about the tool alone, and an answer for the model.
   */
  permitsAnotherTool(input: PolicyInput): boolean;
}
