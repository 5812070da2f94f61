import type { PolicyInput } from './policy-input.ts';

/**
 * The result of a criterion for one request. Undefined if it cannot be decided, because the value is
 * absent, has the wrong type, or can be read in two ways. It then counts against the request: as not
 * satisfied in `allow`, and as satisfied in `deny`.
 */
export type Outcome = boolean | undefined;

/** The value that a criterion looks at, for an explanation. Undefined if it is absent or of no use. */
export type SubjectValue = string | readonly string[] | boolean | undefined;

/** A criterion with its operand, ready to be evaluated. Neither function throws. */
export interface BuiltCriterion {
  readonly test: (input: PolicyInput) => Outcome;
  readonly valueOf: (input: PolicyInput) => SubjectValue;
}

/** What criteria compare with, in compiled form. Each form has a schema. */
export interface OperandForms {
  readonly flag: object;
  readonly matcher: { readonly matcher: StringMatcher };
  /** `path` is never empty: `claim/a/b` reads the claim `a`, then its member `b`. */
  readonly 'matcher-at-path': {
    readonly path: readonly string[];
    readonly matcher: StringMatcher;
  };
  /** Addresses, and networks such as `10.0.0.0/8`. */
  readonly networks: { readonly networks: readonly string[] };
  /** Milliseconds since the epoch: from `after` on, and until before `before`. */
  readonly dates: { readonly after?: number; readonly before?: number };
  /** 0 is Sunday. */
  readonly days: { readonly days: readonly number[]; readonly timezone: string };
  /** Seconds since midnight: from `after` on, and until before `before`; over midnight if `after` is later. */
  readonly times: { readonly timezone: string; readonly after?: number; readonly before?: number };
}

/**
 * Operators on a string. At least one is present, and all that are must hold.
 *
 * On a list of values (groups, a list-valued claim), one value must satisfy all operators but
 * `not_in`, and no value may be in `not_in`.
 */
export interface StringMatcher {
  readonly is?: string;
  readonly starts_with?: string;
  readonly ends_with?: string;
  readonly contains?: string;
  readonly in?: readonly string[];
  readonly not_in?: readonly string[];
}

/**
 * Parts of a request that are only read, and only checked, if a policy needs them. Whatever reads a part of
 * an MCP message reads the message.
 */
export type ReadFact =
  'time' | 'preflight' | 'message' | 'tool' | 'tool-arguments' | 'resources' | 'prompt';

/**
 * Reports a problem with the operand that a manifest has, at a place in it. If the last name of the place
 * may be a typo of a known one, `known` lists these. Returns null, for the caller to return.
 */
export type Report = (
  message: string,
  place?: readonly (string | number)[],
  known?: readonly string[],
) => null;

/** One kind of criterion: everything that the compiler, the proxies and the documentation know of it. */
export interface CriterionDefinition<
  Name extends string = string,
  Form extends keyof OperandForms = keyof OperandForms,
> {
  readonly name: Name;
  readonly form: Form;
  /** For a name that is followed by a path, as `claim/department`: reads what begins with the slash. */
  readonly readPath?: (path: string, report: Report) => readonly string[] | null;
  /** Writes a path as it is behind the name, with the slash. */
  readonly writePath?: (path: readonly string[]) => string;
  /** A name with its path, for a problem. */
  readonly example?: string;
  /** Reads the operand of a manifest, without the path. Null after a report. */
  readonly readOperand: (value: unknown, report: Report) => Omit<OperandForms[Form], 'path'> | null;
  /** Writes the operand as in a manifest, without the path, for an explanation. Undefined if nothing is compared. */
  readonly writeOperand: (operand: OperandForms[Form]) => unknown;
  /** Throws if the operand is not in its form. */
  readonly build: (operand: OperandForms[Form]) => BuiltCriterion;
  /** Codes of the authorization log for a criterion that counts as true, and as false. */
  readonly reasons: { readonly whenTrue: string; readonly whenFalse: string };
  /** Codes about the tool call instead, for criteria of which only the call is denied (D-012). */
  readonly ofToolCall?: true;
  /** Present if the user alone decides it, whatever the request is. */
  readonly ofUser?: true;
  readonly reads?: readonly ReadFact[];
  /** The only routes whose policies may have it. If absent: all. */
  readonly onlyOn?: 'mcp' | 'web';
  /** Its row in docs/policies.md. */
  readonly row: { readonly looksAt: string; readonly compares: string };
}

/** The compiled form of a kind of criterion. */
export type CompiledBy<Definition> =
  Definition extends CriterionDefinition<infer Name, infer Form>
    ? { readonly kind: Name } & OperandForms[Form]
    : never;
