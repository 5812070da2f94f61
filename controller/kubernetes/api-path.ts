import type { ResourceType, Scope } from './kubernetes-api.ts';

/** The place of an object, of the objects of a namespace, or of all objects. */
export interface ApiPlace extends Scope {
  readonly subresource?: string;
}

/** Builds the path of a resource at the API server. No name can lead to another resource. */
export function apiPath({ group, version, plural }: ResourceType, place: ApiPlace): string {
  const segments = [
    ...(group === '' ? ['api', version] : ['apis', group, version]),
    ...(place.namespace === undefined ? [] : ['namespaces', place.namespace]),
    plural,
    ...(place.name === undefined ? [] : [place.name]),
    ...(place.subresource === undefined ? [] : [place.subresource]),
  ];
  return segments.map((segment) => `/${encodeSegment(segment)}`).join('');
}

function encodeSegment(segment: string): string {
  // Paths are normalized on the way, so these names would lead to another resource.
  if (segment === '' || segment === '.' || segment === '..') {
    throw new TypeError(`invalid name of a resource: "${segment}"`);
  }
  return encodeURIComponent(segment);
}
