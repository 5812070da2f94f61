/** The member of `params` that the `Mcp-Name` header mirrors for a method. */
export interface MirroredName {
  readonly member: 'name' | 'uri' | 'taskId';
  /** Whether MCP 2026-07-28 requires the header; the extension's methods may come without. */
  readonly isRequired: boolean;
}

/** MCP 2026-07-28, Standard Request Headers; `tasks/*` by its Tasks extension. */
export const MIRRORED_NAMES: ReadonlyMap<string, MirroredName> = new Map([
  ['tools/call', { member: 'name', isRequired: true }],
  ['prompts/get', { member: 'name', isRequired: true }],
  ['resources/read', { member: 'uri', isRequired: true }],
  ['tasks/get', { member: 'taskId', isRequired: false }],
  ['tasks/update', { member: 'taskId', isRequired: false }],
  ['tasks/cancel', { member: 'taskId', isRequired: false }],
]);
