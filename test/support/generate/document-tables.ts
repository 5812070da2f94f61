/**
 * Returns a document with its tables, each between a comment that names it and the comment `end`. Throws if
 * one of them has no place.
 */
export function withTables(document: string, tables: Readonly<Record<string, string>>): string {
  return Object.entries(tables).reduce((text, [name, table]) => {
    const place = new RegExp(`(<!-- ${name}: [^\\n]*-->\\n)[^]*?(<!-- end -->)`);
    if (!place.test(text)) throw new Error(`the document has no place for the table of ${name}`);
    return text.replace(place, (_, begin: string, end: string) => `${begin}\n${table}\n\n${end}`);
  }, document);
}
