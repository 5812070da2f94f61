import { parseDocuments } from '../../../../controller/files/parse-documents.ts';
import type { Contents } from '../../../../controller/files/read-contents.ts';

/** What reading these files gives, by name and text. */
export function contentsOf(
  files: Readonly<Record<string, string>>,
  secretFiles: Readonly<Record<string, string>> = {},
): Contents {
  return {
    files: Object.entries(files).map(([name, text]) => ({
      name,
      bytes: Buffer.from(text),
      parsed: parseDocuments(name, text),
    })),
    secretFiles: new Map(
      Object.entries(secretFiles).map(([path, text]) => [path, { kind: 'text', text }]),
    ),
  };
}
