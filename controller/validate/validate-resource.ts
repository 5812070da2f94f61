import type { ResourceKind } from '../../crds/crd-schema.ts';
import { CRD_SCHEMAS } from '../../crds/crd-schemas.ts';
import type { GatewaySettings, Route } from '../../crds/types.ts';
import { characterProblems } from './check-characters.ts';
import { compileRuleCheck } from './check-rules.ts';
import {
  MAX_PROBLEMS,
  schemaProblems,
  type GeneratedCheck,
  type SchemaProblem,
} from './check-schema.ts';
import { sizeProblem } from './check-size.ts';
import { parseConfigMap, type ConfigMap } from './config-map.ts';
import { didYouMean } from './did-you-mean.ts';
import { checkGatewaySettings, checkRoute } from './generated/check-manifest.js';
import { parseSecret } from './parse-secret.ts';
import type { ResourceProblem, ProblemReason } from './problem.ts';
import { displayName, readResourceId } from './resource-id.ts';
import type { Secret } from './secret.ts';
import { sortProblems } from './sort-problems.ts';
import { isRecord } from '../../shared/runtime/is-record.ts';

/** A valid manifest; its namespace is always set. */
export type Resource = Route | GatewaySettings | Secret | ConfigMap;

/** The result of validating a document. */
export type Validation =
  | { readonly kind: 'valid'; readonly resource: Resource }
  | { readonly kind: 'invalid'; readonly problems: readonly ResourceProblem[] };

/**
 * Reads a document as a resource, or returns its problems, up to a limit.
 *
 * Checks what an API server checks: the schema of `crds/*.yaml`, its rules and list types, and the form
 * of names. Unknown fields are problems, as for `kubectl apply`. `status` is ignored, because only the
 * gateway writes it. `place` replaces the name in problems of a resource without a name.
 */
export function validateResource(document: unknown, place: string): Validation {
  if (!isRecord(document)) {
    return invalid(place, [{ path: '', message: 'must be a manifest: an object with a kind' }]);
  }
  const id = readResourceId(document);
  const name = id === undefined ? place : displayName(id);
  const { apiVersion, kind } = document;
  if ((kind === 'Secret' || kind === 'ConfigMap') && apiVersion === 'v1') {
    const parsed = kind === 'Secret' ? parseSecret(document) : parseConfigMap(document);
    return 'kind' in parsed ? { kind: 'valid', resource: parsed } : invalid(name, parsed);
  }
  if (kind !== 'Route' && kind !== 'GatewaySettings') {
    return invalid(name, [unknownKind(kind)]);
  }
  const manifest: unknown = Object.fromEntries(
    Object.entries(document).filter(([field]) => field !== 'status'),
  );
  const problems = CHECKS[kind](manifest);
  if (problems.length > 0) return invalid(name, problems);
  // The schema was just checked, and the types are generated from it.
  return { kind: 'valid', resource: withNamespace(manifest as Route | GatewaySettings) };
}

const CHECKS: Readonly<Record<ResourceKind, (document: unknown) => readonly SchemaProblem[]>> = {
  Route: compileCheck('Route', checkRoute),
  GatewaySettings: compileCheck('GatewaySettings', checkGatewaySettings),
};

function compileCheck(
  kind: ResourceKind,
  check: GeneratedCheck,
): (document: unknown) => readonly SchemaProblem[] {
  const schema = CRD_SCHEMAS[kind];
  const checkRules = compileRuleCheck(schema);
  return (document) => {
    const tooLarge = sizeProblem(schema, document);
    if (tooLarge !== undefined) return [tooLarge];
    const problems = schemaProblems(check, document);
    const isWellFormed = problems.length === 0;
    // Only a well-formed document is known to have few values.
    const inCharacters = isWellFormed ? characterProblems(document) : [];
    return [...problems, ...inCharacters, ...checkRules(document, { isWellFormed })];
  };
}

function withNamespace(manifest: Route | GatewaySettings): Route | GatewaySettings {
  const { namespace = 'default' } = manifest.metadata;
  return { ...manifest, metadata: { ...manifest.metadata, namespace } };
}

const KINDS = ['Route', 'GatewaySettings', 'Secret', 'ConfigMap'] as const;

function unknownKind(kind: unknown): SchemaProblem {
  if (kind === undefined) return { path: 'kind', message: `must be one of ${KINDS.join(', ')}` };
  if (kind === 'Secret' || kind === 'ConfigMap') {
    return { path: 'apiVersion', message: `must be v1 for a ${kind}` };
  }
  const hint = typeof kind === 'string' ? didYouMean(kind, KINDS) : '';
  return { path: 'kind', message: `must be one of ${KINDS.join(', ')}${hint}` };
}

function invalid(resource: string, found: readonly SchemaProblem[]): Validation {
  const problems = found
    .slice(0, MAX_PROBLEMS)
    .map((problem) => ({ resource, reason: reasonOf(problem.path), ...problem }));
  return { kind: 'invalid', problems: sortProblems(problems) };
}

function reasonOf(path: string): ProblemReason {
  if (path.startsWith('spec.policy')) return 'InvalidPolicy';
  return path.startsWith('spec') ? 'InvalidSpec' : 'InvalidManifest';
}
