/** A change of a spec, and the one problem that it causes: `path: message`. */
export type InvalidManifest = readonly [yaml: string, problem: string];
