import { isRecord } from '../../shared/runtime/is-record.ts';
import type { ObjectPage, ResourceType, WatchEvent } from './kubernetes-api.ts';
import type { KubernetesObject } from './objects.ts';
import { parseMetadata } from './parse-metadata.ts';
import { parseApiError } from './parse-api-error.ts';
import { apiVersionOf } from './resource-types.ts';

/** Parses an object; `request` names the request in the error. Throws if it is not an object. */
export function parseObject(value: unknown, request: string): KubernetesObject {
  const object = toObject(value);
  if (object === undefined) throw new Error(`${request}: the response is not a Kubernetes object`);
  return object;
}

/** Parses a page of a list. Throws if it is not one. */
export function parsePage(value: unknown, type: ResourceType, request: string): ObjectPage {
  const { metadata, items } = isRecord(value) ? value : {};
  const { resourceVersion, continue: continueAt } = isRecord(metadata) ? metadata : {};
  const objects = parseItems(items ?? [], type);
  if (typeof resourceVersion !== 'string' || objects === undefined) {
    throw new Error(`${request}: the response is not a Kubernetes list`);
  }
  return {
    items: objects,
    resourceVersion,
    continueAt: typeof continueAt === 'string' && continueAt !== '' ? continueAt : undefined,
  };
}

/** Parses a line of a watch. Throws if it is not an event. */
export function parseWatchEvent(line: string, request: string): WatchEvent {
  const event = parseLine(line, request);
  const { type, object: value } = isRecord(event) ? event : {};
  if (type === 'ERROR') {
    return { type, error: parseApiError(value, { code: 500, request }) };
  }
  const object = toObject(value);
  if (type === 'BOOKMARK' && object?.metadata.resourceVersion !== undefined) {
    return { type, object };
  }
  if (type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED') {
    if (object !== undefined && object.metadata.name !== '') return { type, object };
  }
  throw new Error(`${request}: a line of the watch is not a watch event`);
}

function parseItems(items: unknown, type: ResourceType): readonly KubernetesObject[] | undefined {
  if (!Array.isArray(items)) return undefined;
  const objects = items.flatMap((item) => {
    const object = toObject(item);
    if (object === undefined || object.metadata.name === '') return [];
    // Items of built-in types have neither apiVersion nor kind.
    return [{ apiVersion: apiVersionOf(type), kind: type.kind, ...object }];
  });
  return objects.length === items.length ? objects : undefined;
}

function toObject(value: unknown): KubernetesObject | undefined {
  if (!isRecord(value) || !isRecord(value['metadata'])) return undefined;
  const { apiVersion, kind, metadata, ...members } = value;
  return {
    ...members,
    ...(typeof apiVersion === 'string' && { apiVersion }),
    ...(typeof kind === 'string' && { kind }),
    metadata: parseMetadata(metadata),
  };
}

function parseLine(line: string, request: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    // The error of the parser quotes the line, which may hold a Secret.
    throw new Error(`${request}: a line of the watch is not JSON`);
  }
}
