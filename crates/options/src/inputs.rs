//! The files that a load reads, and the options that name them.

use std::path::PathBuf;

use crate::args::WorkloadArgs;
use crate::requests::files_named;

impl WorkloadArgs {
    /// Returns the files that the options name, and those that a request file names, each with its
    /// option.
    pub fn inputs(&self) -> Vec<(&'static str, PathBuf)> {
        let (target, request) = (&self.target, &self.request);
        let own = [
            ("--targets", &target.targets),
            ("--body-file", &request.body_file),
            ("--requests", &request.requests),
        ];
        let named = own.into_iter().chain(self.tls.inputs());
        let mut files: Vec<_> =
            named.filter_map(|(option, path)| Some((option, path.clone()?))).collect();
        let beside = request.requests.as_deref().map(|file| files_named(request, file));
        files.extend(beside.into_iter().flatten().map(|path| ("--requests", path)));
        files
    }
}
