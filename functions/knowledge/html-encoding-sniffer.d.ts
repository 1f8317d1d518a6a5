/** The package has no types, and the published ones are for an older version. */
declare module 'html-encoding-sniffer' {
  /** @returns the encoding's name in the Encoding standard, or the default */
  export default function sniffEncoding<Default extends string | null>(
    bytes: Uint8Array,
    options: { xml?: boolean; maxPrescanBytes?: number; defaultEncoding: Default },
  ): string | Default;
}
