import { createHash } from 'node:crypto';

/** Bytes of an image, which are named by their hash. */
export interface Blob {
  readonly digest: string;
  readonly contents: Uint8Array;
}

/** Names bytes by their hash. */
export function blobOf(contents: Uint8Array): Blob {
  return { digest: `sha256:${createHash('sha256').update(contents).digest('hex')}`, contents };
}

/** Makes a document of an image. */
export function documentBlob(document: object): Blob {
  return blobOf(Buffer.from(JSON.stringify(document)));
}

/** Refers to a blob (OCI image specification, "OCI Content Descriptors"). */
export function descriptorOf(mediaType: string, { digest, contents }: Blob): object {
  return { mediaType, digest, size: contents.length };
}

/** The file of a blob in an image layout. */
export function pathOfBlob({ digest }: Blob): string {
  return `blobs/${digest.replace(':', '/')}`;
}
