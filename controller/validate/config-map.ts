import { schemaProblems, type SchemaProblem } from './check-schema.ts';
import { checkConfigMap } from './generated/check-manifest.js';

/** A core/v1 ConfigMap. */
export interface ConfigMap {
  readonly kind: 'ConfigMap';
  readonly metadata: { readonly name: string; readonly namespace: string };
  /** Texts by key. */
  readonly values: ReadonlyMap<string, string>;
}

/** A ConfigMap manifest of valid shape. */
interface ConfigMapManifest {
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly data?: Readonly<Record<string, string>>;
}

/** Reads a core/v1 ConfigMap. */
export function parseConfigMap(document: unknown): ConfigMap | readonly SchemaProblem[] {
  const problems = schemaProblems(checkConfigMap, document);
  if (problems.length > 0) return problems;
  // The schema was just checked.
  const { metadata, data = {} } = document as ConfigMapManifest;
  return {
    kind: 'ConfigMap',
    metadata: { name: metadata.name, namespace: metadata.namespace ?? 'default' },
    values: new Map(Object.entries(data)),
  };
}
