import { isRecord } from './is-record.ts';
import type { ObjectPage, ResourceType, WatchEvent } from './kubernetes-api.ts';
import type { KubernetesObject } from './objects.ts';
import { refusalOf } from './read-refusal.ts';

/** An object as the API server sent it. Throws when it is none. */
export function parseObject(value: unknown, what: string): KubernetesObject {
  if (!isRecord(value) || !isRecord(value['metadata'])) {
    throw new Error(`${what}: the answer is no object of the API`);
  }
  // What is only asked and not kept, such as a TokenReview, has no name.
  return { ...value, metadata: { name: '', ...value['metadata'] } };
}

/** A page of a list. Throws when it is none. */
export function parsePage(value: unknown, type: ResourceType, what: string): ObjectPage {
  const metadata = isRecord(value) ? value['metadata'] : undefined;
  const items = isRecord(value) ? (value['items'] ?? []) : undefined;
  if (!isRecord(metadata) || typeof metadata['resourceVersion'] !== 'string' || !isObjects(items)) {
    throw new Error(`${what}: the answer is no list of the API`);
  }
  const { continue: continueAt, resourceVersion } = metadata;
  return {
    // Objects of the built-in types do not say in a list what they are.
    items: items.map((item) => ({ apiVersion: apiVersionOf(type), kind: type.kind, ...item })),
    resourceVersion,
    continueAt: typeof continueAt === 'string' && continueAt !== '' ? continueAt : undefined,
  };
}

/** A line of a watch. Throws when it is none. */
export function parseWatchEvent(line: string, what: string): WatchEvent {
  const event = parseLine(line, what);
  const { type, object } = isRecord(event) ? event : {};
  if (type === 'ERROR') {
    return { type, error: refusalOf(object, { code: 500, what }) };
  }
  if (type === 'BOOKMARK' && isRecord(object) && isRecord(object['metadata'])) {
    // Nothing but a version, and so without a name.
    const version = object['metadata']['resourceVersion'];
    if (typeof version === 'string') {
      return { type, object: { metadata: { name: '', resourceVersion: version } } };
    }
  }
  if ((type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED') && isObject(object)) {
    return { type, object };
  }
  throw new Error(`${what}: a line of the watch is no event`);
}

function parseLine(line: string, what: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    // The error of the parser quotes the line, and that may be a Secret.
    throw new Error(`${what}: a line of the watch is no JSON`);
  }
}

function isObjects(value: unknown): value is KubernetesObject[] {
  return Array.isArray(value) && value.every(isObject);
}

function isObject(value: unknown): value is KubernetesObject {
  if (!isRecord(value)) return false;
  const { metadata } = value;
  return isRecord(metadata) && typeof metadata['name'] === 'string';
}

function apiVersionOf({ group, version }: ResourceType): string {
  return group === '' ? version : `${group}/${version}`;
}
