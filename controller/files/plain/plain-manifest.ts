import { API_VERSION } from '../../../crds/crd-schema.ts';
import type { SourcePlace } from '../origins.ts';
import type { Mapping, PlainProblem } from './translate-keys.ts';

/** The namespace of all resources of a plain form. */
export const NAMESPACE = 'default';

/** A resource of a plain form, not validated yet. */
export interface PlainManifest {
  readonly manifest: Mapping;
  readonly origins: readonly SourcePlace[];
  readonly problems: readonly PlainProblem[];
  /** The path of a route without a name that can be read or derived. */
  readonly unnamed?: string;
}

/** Returns a manifest of our group in the namespace of a plain form. */
export function manifest(kind: string, name: unknown, content: Mapping): Mapping {
  return { apiVersion: API_VERSION, kind, metadata: { name, namespace: NAMESPACE }, ...content };
}
