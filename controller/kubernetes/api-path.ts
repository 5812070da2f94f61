import type { ResourceType, Scope } from './kubernetes-api.ts';

/** The place of an object, of the objects of a namespace, or of all objects. */
export interface ApiPlace extends Scope {
  readonly subresource?: string;
}

/** Builds the path of a resource at the API server. No name can lead to another resource. */
export function apiPath({ group, version, plural }: ResourceType, place: ApiPlace): string {
  const parts = [
    ...(group === '' ? ['api', version] : ['apis', group, version]),
    ...(place.namespace === undefined ? [] : ['namespaces', place.namespace]),
    plural,
    ...(place.name === undefined ? [] : [place.name]),
    ...(place.subresource === undefined ? [] : [place.subresource]),
  ];
  return parts.map((part) => `/${encodePart(part)}`).join('');
}

function encodePart(part: string): string {
  // Paths are normalized on the way: these names would lead out of the path, as would an empty one.
  if (part === '' || part === '.' || part === '..') {
    throw new TypeError(`invalid name of a resource: "${part}"`);
  }
  return encodeURIComponent(part);
}
