import { isRecord } from '../../shared/runtime/is-record.ts';
import type { ObjectMeta } from './objects.ts';

/**
 * Parses the metadata of an object. Members that the controller does not read stay as they are, so
 * that an object can be written back whole.
 */
export function parseMetadata(value: Readonly<Record<string, unknown>>): ObjectMeta {
  const { name, namespace, uid, resourceVersion, generation, ...others } = value;
  const { creationTimestamp, deletionTimestamp, labels, annotations, ...unread } = others;
  return {
    ...unread,
    // An object that is not stored, such as a TokenReview, has no name.
    name: typeof name === 'string' ? name : '',
    ...(typeof namespace === 'string' && { namespace }),
    ...(typeof uid === 'string' && { uid }),
    ...(typeof resourceVersion === 'string' && { resourceVersion }),
    ...(typeof generation === 'number' && { generation }),
    ...(typeof creationTimestamp === 'string' && { creationTimestamp }),
    ...(typeof deletionTimestamp === 'string' && { deletionTimestamp }),
    ...(isTexts(labels) && { labels }),
    ...(isTexts(annotations) && { annotations }),
  };
}

function isTexts(value: unknown): value is Readonly<Record<string, string>> {
  return isRecord(value) && Object.values(value).every((text) => typeof text === 'string');
}
