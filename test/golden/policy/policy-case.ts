import { readdirSync, readFileSync } from 'node:fs';

import { Ajv } from 'ajv';
import { parse } from 'yaml';

import type { PolicyUser } from '../../../shared/policy/language/policy-input.ts';

/** One golden file: a policy, and its decisions on some requests. */
export interface PolicyCase {
  readonly description: string;
  /** As an operator writes it in a Route. */
  readonly policy: unknown;
  readonly users: Readonly<Record<string, Partial<PolicyUser> & Pick<PolicyUser, 'subject'>>>;
  readonly requests: readonly PolicyRequest[];
}

export interface PolicyRequest {
  readonly name: string;
  readonly user?: string;
  readonly method?: string;
  readonly path?: string;
  readonly address?: string;
  readonly time?: string;
  readonly preflight?: boolean;
  readonly mcpMethod?: string;
  readonly tool?: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly resources?: readonly string[];
  readonly prompt?: string;
  readonly want: {
    readonly permitted: boolean;
    readonly allow: boolean;
    readonly allowWhy: readonly string[];
    readonly deny: boolean;
    readonly denyWhy: readonly string[];
    readonly anotherTool?: boolean;
  };
}

const FOLDER = import.meta.dirname;

/** Reads every case, and checks it against the schema beside it. */
export function readPolicyCases(): readonly { file: string; policyCase: PolicyCase }[] {
  const schema = JSON.parse(readFileSync(`${FOLDER}/case.schema.json`, 'utf8')) as object;
  const validate = new Ajv({ allErrors: true }).compile<PolicyCase>(schema);
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.yaml'));
  return files.map((file) => {
    const policyCase: unknown = parse(readFileSync(`${FOLDER}/${file}`, 'utf8'));
    if (validate(policyCase)) return { file, policyCase };
    throw new Error(`${file}: ${JSON.stringify(validate.errors)}`);
  });
}
