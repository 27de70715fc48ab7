import { ImportPage } from './ImportPage.tsx';
import { Invitations } from './Invitations.tsx';
import { LatestFiles, loadFiles } from './LatestFiles.tsx';
import { loadImport } from './loadImport.ts';
import { loadInvitations, loadProgrammes } from './loadInvitations.ts';
import { MakeCodes } from './MakeCodes.tsx';
import { Upload } from './Upload.tsx';

/** The pages of Invitations, which are loaded together when the first of them is opened. */
export const routes = {
  list: { loader: loadInvitations, Component: Invitations },
  upload: { Component: Upload },
  make: { loader: loadProgrammes, Component: MakeCodes },
  files: { loader: loadFiles, Component: LatestFiles },
  file: { loader: loadImport, Component: ImportPage },
};
