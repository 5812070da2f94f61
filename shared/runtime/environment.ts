/** Environment variables, as a process or a test gives them. */
export type Environment = Readonly<Record<string, string | undefined>>;
