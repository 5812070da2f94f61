import type { RequestDescription, UserDescription } from '../explain/request-description.ts';

/** A file of cases, as docs/policy-test.schema.json describes it. */
export interface CaseFile {
  /** Relative to the folder of the file. */
  readonly manifests: readonly string[];
  readonly route?: string;
  readonly users?: Readonly<Record<string, UserDescription>>;
  readonly cases: readonly PolicyTestCase[];
}

/** A request, and what the gateway has to decide about it. */
export interface PolicyTestCase {
  readonly name: string;
  /** One of the users; absent: the request is anonymous. */
  readonly user?: string;
  readonly request?: RequestDescription;
  readonly expect: 'allow' | 'deny';
  /** Reasons that the decision must have. */
  readonly reasons?: readonly string[];
}
