import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import ts from 'typescript';

/** Where a name is exported: `file:line`. */
export interface Declaration {
  readonly name: string;
  readonly place: string;
}

/** The exports of some folders, by name. */
export function exportsByName(
  root: string,
  folders: readonly string[],
): ReadonlyMap<string, readonly Declaration[]> {
  const files = folders.flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: root })).sort();
  const declared = files.flatMap((file) =>
    exportedNames(file, readFileSync(join(root, file), 'utf8')),
  );
  return Map.groupBy(declared, ({ name }) => name);
}

/** Names that a file declares and exports. Overloads of one function count once. */
function exportedNames(file: string, text: string): readonly Declaration[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest);
  const found = new Map<string, Declaration>();
  for (const statement of source.statements) {
    if (!isExported(statement)) continue;
    const { line } = source.getLineAndCharacterOfPosition(statement.getStart(source));
    for (const name of declaredNames(statement)) {
      found.set(name, { name, place: `${file}:${String(line + 1)}` });
    }
  }
  return [...found.values()];
}

function isExported(statement: ts.Statement): boolean {
  if (!ts.canHaveModifiers(statement)) return false;
  const modifiers = ts.getModifiers(statement) ?? [];
  return modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
}

function declaredNames(statement: ts.Statement): readonly string[] {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.flatMap(({ name }) =>
      ts.isIdentifier(name) ? [name.text] : [],
    );
  }
  const isNamed =
    ts.isClassDeclaration(statement) ||
    ts.isFunctionDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement);
  return isNamed && statement.name !== undefined ? [statement.name.text] : [];
}
