import { isRecord } from '../../shared/runtime/is-record.ts';
import { objectName, type KubernetesObject, type ReferenceGrant } from './objects.ts';

type Spec = NonNullable<ReferenceGrant['spec']>;
type From = NonNullable<Spec['from']>[number];
type To = NonNullable<Spec['to']>[number];
type Members = Readonly<Record<string, unknown>>;

/**
 * Parses an object of type ReferenceGrant.
 *
 * An entry that does not match the definition is left out as a whole: without one of its members it
 * could grant more.
 */
export function parseReferenceGrant({ metadata, spec }: KubernetesObject): ReferenceGrant {
  if (!isRecord(spec)) return { metadata: objectName(metadata) };
  const { from, to } = spec;
  return {
    metadata: objectName(metadata),
    spec: {
      ...(Array.isArray(from) && { from: from.filter(isRecord).flatMap(parseFrom) }),
      ...(Array.isArray(to) && { to: to.filter(isRecord).flatMap(parseTo) }),
    },
  };
}

function parseFrom({ group, kind, namespace }: Members): readonly From[] {
  if (typeof group !== 'string' || typeof kind !== 'string') return [];
  return typeof namespace === 'string' ? [{ group, kind, namespace }] : [];
}

function parseTo({ group, kind, name }: Members): readonly To[] {
  if (typeof group !== 'string' || typeof kind !== 'string') return [];
  if (name === undefined || name === null) return [{ group, kind }];
  return typeof name === 'string' ? [{ group, kind, name }] : [];
}
